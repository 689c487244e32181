# SPDX-License-Identifier: MIT
# What descriptors.c said of its parts, against the trace of it: wrappers.def first, then lines of EVENT HEX.
# Prints each part that is not as it was said, and in the end how many there were.
function close_part(    found) {
	if (symbol == "")
		return
	parts++
	found = count[call[symbol]] + 0
	if (wanted == "+" ? found == 0 : found != wanted) {
		print "FAIL: " symbol ": " found " events of " call[symbol] ", not " wanted
		failed++
	}
	seen[symbol] = 1
}
function text_of(hex,    i, text) {
	text = ""
	for (i = 33; i < length(hex); i += 2)
		text = text sprintf("%c", value(substr(hex, i, 2)))
	return text
}
function value(hex) {
	return (index("0123456789abcdef", substr(hex, 1, 1)) - 1) * 16 + index("0123456789abcdef", substr(hex, 2, 1)) - 1
}
BEGIN { symbol = "" }
FILENAME == ARGV[1] {
	if (match($0, /^PX_WRAPPER\(.*\)/)) {
		split(substr($0, 12, RLENGTH - 12), row, ", ")
		call[row[1]] = row[2]
	}
	next
}
$1 == "unlink" && (text = text_of($2)) ~ /^@/ {
	close_part()
	split(substr(text, 2), mark, " ")
	symbol = mark[1]
	wanted = mark[2]
	split("", count)
	next
}
{ count[$1]++ }
END {
	for (name in seen)
		print "part " name
	print parts " parts, " failed + 0 " failed"
}
