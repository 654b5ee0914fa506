package main

func main() {}

func Exported() {}
