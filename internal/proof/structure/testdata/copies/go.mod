module example.com/copies

go 1.26.0
