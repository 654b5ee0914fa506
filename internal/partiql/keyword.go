package partiql

import "strings"

// keywords are the words that PartiQL reserves: those of SQL-92 and its own.
// DynamoDB reads them as names only in double quotes.
const keywords = ` absolute action add all allocate alter any are as asc assertion at authorization avg begin bit bit_length by
 cascade cascaded case cast catalog char character character_length char_length check close coalesce collate collation column commit
 connect connection constraint constraints continue convert corresponding count create cross current current_date current_time
 current_timestamp current_user cursor date deallocate dec decimal declare default deferrable deferred delete desc describe descriptor
 diagnostics disconnect distinct domain double drop else end escape exception exec execute exists external extract false fetch first
 float for foreign found from full get global go goto grant group having identity immediate indicator initially inner input insensitive
 insert int integer interval into isolation join key language last left level local lower match max min module names national natural
 nchar next no null nullif numeric octet_length of on only open option order outer output overlaps pad partial position precision
 prepare preserve primary prior privileges procedure public read real references relative restrict revoke right rollback rows schema
 scroll section select session session_user set size smallint some space sql sqlcode sqlerror sqlstate substring sum system_user table
 temporary then time timestamp to transaction translate translation trim true unique unknown update upper usage user using value values
 varchar varying view when whenever where with work write zone
 missing pivot unpivot limit tuple remove index let bool boolean string symbol clob blob struct list sexp bag `

// reserved has the words of keywords, by themselves.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(keywords) {
		words[w] = true
	}
	return words
}()

// isKeyword reports whether a word in lower case is reserved.
func isKeyword(word string) bool { return reserved[word] }

// types are the type names that IS takes, with the type descriptor that each
// stands for. Those without one are types of PartiQL that DynamoDB has not.
var types = map[string]string{
	"missing": "", "null": "NULL", "bool": "BOOL", "boolean": "BOOL", "blob": "B", "string": "S", "numeric": "N",
	"struct": "M", "tuple": "M", "list": "L",
	"int": "", "integer": "", "smallint": "", "int2": "", "int4": "", "int8": "", "float": "", "real": "", "double": "",
	"decimal": "", "dec": "", "char": "", "character": "", "varchar": "", "date": "", "time": "", "timestamp": "",
	"symbol": "", "clob": "", "sexp": "", "bag": "", "any": "",
}
