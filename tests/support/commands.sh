# SPDX-License-Identifier: MIT
# For the scripts of check-arch, check-musl, check-packages, check-toolchains and check-vm: sourced, not run.
#
#	fail MESSAGE		end the script
#	want PROGRAM PACKAGE	install the package of Debian if the program is missing
#	count_tests LOG		how many tests passed, failed and were skipped, and those that failed
# shellcheck shell=bash

fail()
{
	echo "check-$(basename "$(dirname "$0")"): $1" >&2
	exit 1
}

want()
{
	command -v "$1" >/dev/null && return
	[ "$(id -u)" -eq 0 ] || fail "$1 is missing; as root, on Debian: apt-get install $2"
	echo "installing $2"
	apt_install "$2" || { apt-get update -qq >/dev/null 2>&1 && apt_install "$2"; } || fail "cannot install $2"
}

# A new machine has no lists of packages, or old ones, which name packages that are gone.
apt_install()
{
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" </dev/null >/dev/null 2>&1
}

count_tests()
{
	grep -aE '^(PASS|FAIL|SKIP|XFAIL|ERROR): ' "$1" | cut -d: -f1 | sort | uniq -c
	grep -aE '^(FAIL|ERROR): ' "$1"
}
