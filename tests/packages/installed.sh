#!/bin/bash
# SPDX-License-Identifier: MIT
# installed.sh PACKAGES SOURCES: install the packages of Debian that are in a directory, look whether all is where Debian
# has it, use it as a stranger would, and purge it, which leaves nothing.  As root, in a root directory that was made for
# this: it installs programs.
set -u
packages=$1
srcdir=$2
# shellcheck source=tests/support/complain.sh
. "$srcdir/tests/support/complain.sh"

version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$srcdir/debian/changelog")
names=$(sed -n 's/^Package: //p' "$srcdir/debian/control" | sort)
arch=$(dpkg-architecture -qDEB_HOST_MULTIARCH) || exit 99
libdir=/usr/lib/$arch
install='apt-get install -y -qq --no-install-recommends'

# files: all names, except what the package manager keeps for itself.  Other file systems have /proc, /dev and /sys.
files()
{
	find / -xdev \( -path /var/cache -o -path /var/log -o -path /tmp -o -path "$scratch" -o -path "$packages" \
		-o -path "$srcdir" \) -prune -o -print | sort
}

install_all()
{
	files_of_all=
	for name in $names; do
		files_of_all="$files_of_all $(echo "$packages/$name"_*.deb)"
	done
	# What the packages need comes first, so that only their files are new later.
	# shellcheck disable=SC2086  # several words
	needed=$($install -s $files_of_all | sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -vxF "$names")
	# shellcheck disable=SC2086
	$install $needed gcc g++ libc6-dev pkg-config cmake make man-db bash-completion zsh fish >/dev/null || exit 99
	files >"$scratch/before"
	# shellcheck disable=SC2086
	$install $files_of_all || exit 99
}

# is_at PACKAGE PATH...: files of this package
is_at()
{
	package=$1
	shift
	for path in "$@"; do
		if ! [ -e "$path" ] || ! dpkg -L "$package" | grep -qxF "$path"; then
			complain "$package has no $path"
		fi
	done
}

places()
{
	is_at libposixtrace0 "$libdir/libposixtrace.so.0"
	is_at libposixtrace-dev "$libdir/libposixtrace.so" "$libdir/libposixtrace.a" "$libdir/pkgconfig/posixtrace.pc" \
		"$libdir/cmake/posixtrace/posixtrace-config.cmake" /usr/include/trace.h /usr/include/trace.hpp
	is_at libtxtrace-preload "$libdir/libtxtrace-preload.so"
	is_at libtxtrace-threadx0 "$libdir/libtxtrace-threadx.so.0"
	is_at libtxtrace-threadx-dev "$libdir/libtxtrace-threadx.so" "$libdir/pkgconfig/txtrace-threadx.pc"
	is_at babeltrace2-plugin-txtrace "$libdir/babeltrace2/plugins/babeltrace-plugin-txtrace.so"
	is_at python3-txtrace /usr/lib/python3/dist-packages/txtrace/__init__.py
	is_at txtrace /usr/bin/txtrace /usr/share/bash-completion/completions/txtrace \
		/usr/share/zsh/vendor-completions/_txtrace /usr/share/fish/vendor_completions.d/txtrace.fish \
		/usr/share/doc/txtrace/json-schema/print.json /usr/share/doc/txtrace/json-schema/report.json

	# Packages of several architectures are there side by side, so each of their machine code is in the directory of its
	# architecture, and each finds all that it needs.
	for name in $names; do
		dpkg -L "$name" | while read -r path; do
			if ! [ -f "$path" ] || [ -L "$path" ] || [ "$(head -c 4 "$path" | tail -c 3)" != ELF ]; then
				continue
			fi
			case $path in /usr/bin/* | "$libdir"/*) ;; *) echo "$path of $name is not in $libdir" ;; esac
			ldd -r "$path" 2>&1 | grep -E 'not found|undefined symbol'
			readelf -d "$path" | grep -E 'RPATH|RUNPATH'
		done
		dpkg -L "$name" | grep -E '\.la$|^/usr/local|^/usr/share/man/man./.*[0-9]$'
	done 2>/dev/null >"$scratch/faults"
	complain_each 'is wrong' <"$scratch/faults"
}

manuals()
{
	txtrace --version | grep -qF "$version" || complain "txtrace --version does not say $version"
	sed -n 's/^ \([a-z][a-z0-9_]*\)@.*/\1/p' "$srcdir"/debian/*.symbols >"$scratch/functions"
	grep -q posix_trace_create "$scratch/functions" || complain 'no function is known'
	while read -r function; do
		man -w 3 "$function" >/dev/null 2>&1 || echo "$function"
	done <"$scratch/functions" >"$scratch/absent"
	complain_each 'has no man page' <"$scratch/absent"
	(cd "$srcdir/doc/man" && ls -- *.[1-9] && echo txtrace-calls.7) | while read -r page; do
		man -w "${page##*.}" "${page%.*}" >/dev/null 2>&1 || echo "$page"
	done >"$scratch/absent"
	complain_each 'is in no package' <"$scratch/absent"
	man -P cat txtrace-record 2>&1 | grep -q '^ *txtrace record' || complain 'man shows no txtrace-record(1)'
}

# Each shell finds its file itself.
shells()
{
	# shellcheck disable=SC2016  # of the other shell
	bash -c '. /usr/share/bash-completion/bash_completion
		{ _comp_load txtrace || _completion_loader txtrace; } 2>/dev/null
		complete -p txtrace' | grep -q txtrace || complain 'bash completes no txtrace'
	# shellcheck disable=SC2016
	zsh -c 'autoload -Uz compinit && compinit -D -u && print -r -- $_comps[txtrace]' | grep -qx _txtrace ||
		complain 'zsh completes no txtrace'
	HOME=$scratch fish -c 'complete -C "txtrace recor"' | grep -q '^record' || complain 'fish completes no txtrace'
}

strangers()
{
	(
		export DESTDIR='' libdir srcdir pkgconfigdir="$libdir/pkgconfig" cmakedir="$libdir/cmake/posixtrace" \
			includedir=/usr/include PYTHON_DIR=/usr/lib/python3/dist-packages CC=gcc PKG_CONFIG=pkg-config
		exec sh "$srcdir/tests/tree/installed.sh"
	) || complain 'tests/tree/installed.sh fails'
	printf '#include <trace.hpp>\nint main() { return 0; }\n' >"$scratch/plus.cpp"
	# shellcheck disable=SC2046  # options of the compiler
	if ! g++ -std=c++17 -o "$scratch/plus" "$scratch/plus.cpp" $(pkg-config --cflags --libs posixtrace) ||
		! "$scratch/plus"; then
		complain 'no program in C++'
	fi
	# It may write byte code beside the sources.
	python3 -c 'import txtrace' || complain 'python3 has no module txtrace'
}

purge_all()
{
	# shellcheck disable=SC2086
	dpkg -V $names >"$scratch/faults" || :
	complain_each 'was changed by its use' <"$scratch/faults"
	# shellcheck disable=SC2086
	apt-get purge -y -qq $names || complain 'purge fails'
	files | comm -13 "$scratch/before" - >"$scratch/left"
	complain_each 'is left after a purge' <"$scratch/left"
	# shellcheck disable=SC2086
	! dpkg-query -W -f '${binary:Package} ${Status}\n' $names 2>/dev/null | grep . || complain 'dpkg still knows packages'
}

install_all
for name in $names; do
	echo "$name depends on $(dpkg-query -W -f '${Depends}' "$name")"
done
places
manuals
shells
strangers
purge_all
echo "$(echo "$names" | wc -l) packages of $version, $failed faults"
[ "$failed" -eq 0 ]
