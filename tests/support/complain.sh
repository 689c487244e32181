# SPDX-License-Identifier: MIT
# For scripts: sourced, not run.
#
#	complain TEXT...	print a failure, and count it in $failed
#	complain_each TEXT	complain of every line of standard input: the line, then the text
#	$scratch		a directory that is removed at the end
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

complain()
{
	echo "FAIL: $*"
	failed=$((failed + 1))
}

complain_each()
{
	while read -r item; do
		complain "$item $1"
	done
}
