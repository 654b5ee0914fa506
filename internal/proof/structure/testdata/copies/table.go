package copies

// Equal rows are no clones: the rows from the second on would overlap those up to the last but one.
var table = [][3]int{
	{1, 2, 3},
	{1, 2, 3},
	{1, 2, 3},
	{1, 2, 3},
	{1, 2, 3},
	{1, 2, 3},
}
