package jsonpull

const Byte = 'x'
