package small

const limit = 1
