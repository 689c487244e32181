#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of txtrace export --to html in a browser: its contents, compared with txtrace print, and its functions. The
# script leaves pictures in the current directory: html-*.png.
. "${srcdir:-.}/tests/tool/lib.sh"

if ! command -v python3 >/dev/null; then
	echo 'SKIP: python3 is missing'
	exit 77
fi
if ! (cd "$top/tests/tool" && if [ "${PX_SANITIZED:-no}" = no ] && [ -e preload/.libs/libtxtrace-preload.so ]; then
	TXTRACE_PRELOAD=$(pwd)/preload/.libs/libtxtrace-preload.so
	export TXTRACE_PRELOAD
	sh "$top/tests/support/with-own-dir.sh" "$tool" record --preload --quiet -o "$scratch/mixture.trx" \
		tests/tool/mixture "$scratch/account" || complain 'mixture fails'
	set -- "$scratch/mixture.trx"
fi
PYTHONDONTWRITEBYTECODE=1 python3 -c 'import browser, sys; sys.exit(not browser.find_browser())'); then
	echo 'SKIP: there is no Chromium (Debian: apt-get install chromium)'
	exit 77
fi
make_samples
for kind in whole lossy; do
	sh "$top/tests/support/with-own-dir.sh" tests/tool/make_log "$scratch/$kind.trx" $kind || exit 99
done
for kind in odd shared; do
	"$mktrx" <"$top/tests/tool/html-$kind.txt" >"$scratch/$kind.trx" || exit 99
done
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/html_page.py" "$tool" "$scratch" "$samples"/*.trx \
	"$scratch/whole.trx" "$scratch/lossy.trx" "$scratch/odd.trx" "$scratch/shared.trx" "$@"
