#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of txtrace export --to html in a browser: its contents, compared with txtrace print, and its functions. The
# script leaves pictures in the current directory: html-*.png.
. "${srcdir:-.}/tests/tool/lib.sh"

need_browser
make_samples
for kind in whole lossy; do
	sh "$top/tests/support/with-own-dir.sh" tests/tool/make_log "$scratch/$kind.trx" $kind || exit 99
done
for kind in odd shared; do
	"$mktrx" <"$top/tests/tool/html-$kind.txt" >"$scratch/$kind.trx" || exit 99
done
make_mixture "$scratch/mixture.trx" && set -- "$scratch/mixture.trx" "$@"
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/html_page.py" "$tool" "$scratch" "$samples"/*.trx \
	"$scratch/whole.trx" "$scratch/lossy.trx" "$scratch/odd.trx" "$scratch/shared.trx" "$@"
