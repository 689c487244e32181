#!/bin/bash
# SPDX-License-Identifier: MIT
# rpm.sh ARCHIVE: build the RPM packages from a release archive, as rpmbuild -ta does, judge them, unpack them in one
# directory, and use what is there as a stranger would.
#
#	build		rpmbuild -ta, with the tests of the spec; all files of the installation are in a package
#	rpmlint		no error or warning in the spec, and no error in the packages, but for those of rpmlint.toml
#	contents	each package has what debian/*.install gives its counterpart, and needs what its objects need
#	installed	tests/tree/installed.sh
#
# On Debian, the packages that the spec needs to build are not in the database of RPM, so rpmbuild does not look for
# them.  The build runs in the directory rpm, or in $PX_RPM_DIR.
# shellcheck disable=SC2016,SC2317  # programs of other shells; functions that others call
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/commands.sh
. "$top/tests/support/commands.sh"
dir=${PX_RPM_DIR:-$PWD/rpm}
archive=$(realpath "$1") || exit 2
want rpmbuild rpm
want cpio cpio
status=0
rm -rf "$dir" && mkdir -p "$dir" || exit 1

# step NAME COMMAND...: run it with a log, and say how it ended
step()
{
	if "${@:2}" >"$dir/$1.log" 2>&1; then
		echo "rpm: $1: pass: $(tail -n 1 "$dir/$1.log")"
		return
	fi
	echo "rpm: $1: FAIL, the end of $dir/$1.log:"
	tail -n 15 "$dir/$1.log"
	status=1
	return 1
}

build()
{
	# The compiler of Debian does not know the flags of a distribution with RPM, so these are the general ones.
	env -u MAKEFLAGS -u MFLAGS rpmbuild -ta --nodeps --define "_topdir $dir/top" "$archive" || return
	mkdir "$dir/packages" && mv "$dir"/top/RPMS/*/*.rpm "$dir/packages" &&
		find "$dir/packages" -name '*.rpm' | wc -l
}

lint()
{
	want rpmlint rpmlint
	rpmlint --strict --config "$top/tests/packages/rpmlint.toml" "$top/packaging/posixtrace.spec" &&
		rpmlint --config "$top/tests/packages/rpmlint.toml" "$dir"/packages/*.rpm
}

# has PACKAGE PATTERN...: each pattern matches a file of the package
has()
{
	rpm -qlp "$dir/packages/$1"-[0-9]*.rpm >"$dir/list" || return
	for pattern in "${@:2}"; do
		grep -qE "^$pattern\$" "$dir/list" || { echo "$1 has no $pattern"; return 1; }
	done
}

# needs PACKAGE LIBRARY...: the package requires these objects
needs()
{
	rpm -qp --requires "$dir/packages/$1"-[0-9]*.rpm >"$dir/list" || return
	for library in "${@:2}"; do
		grep -q "^$library" "$dir/list" || { echo "$1 does not need $library"; return 1; }
	done
}

contents()
{
	libdir=$(rpm --eval '%{_libdir}')
	has posixtrace /usr/bin/txtrace '/usr/share/man/man1/txtrace-record\.1.*' '.*/_txtrace' '.*/txtrace\.fish' &&
		has posixtrace-libs "$libdir/libposixtrace\.so\.0" && needs posixtrace libposixtrace.so.0 &&
		has posixtrace-devel /usr/include/trace.hpp "$libdir/libposixtrace\.so" "$libdir/pkgconfig/posixtrace\.pc" \
			"$libdir/cmake/posixtrace/posixtrace-config\.cmake" && needs posixtrace-devel 'posixtrace-libs' &&
		has posixtrace-static "$libdir/libposixtrace\.a" &&
		has posixtrace-preload "$libdir/libtxtrace-preload\.so" &&
		has posixtrace-threadx "$libdir/libtxtrace-threadx\.so\.0" &&
		needs posixtrace-threadx libposixtrace.so.0 &&
		has posixtrace-threadx-devel /usr/include/tx_trace_posix.h &&
		has python3-txtrace '.*/txtrace/__init__\.py' && needs python3-txtrace python3-cffi &&
		has babeltrace2-plugin-txtrace '.*/babeltrace-plugin-txtrace\.so' &&
		needs babeltrace2-plugin-txtrace libbabeltrace2.so.0 || return
	! rpm -qlp "$dir"/packages/*.rpm | grep -v '^(' | sort | uniq -d | grep -v '/\.build-id$' || return
	rpm -qlp "$dir"/packages/*.rpm | wc -l
}

# What the packages install, in one directory
installed()
{
	mkdir "$dir/root" && for package in "$dir"/packages/*.rpm; do
		(cd "$dir/root" && rpm2cpio "$package" | cpio -idm --quiet) || return
	done
	libdir=$(rpm --eval '%{_libdir}')
	module=$(find "$dir/root/usr" -path '*/txtrace/__init__.py')
	module=${module#"$dir/root"}
	env DESTDIR="$dir/root" libdir="$libdir" srcdir="$top" pkgconfigdir="$libdir/pkgconfig" \
		cmakedir="$libdir/cmake/posixtrace" includedir=/usr/include CC="${CC:-cc}" PKG_CONFIG=pkg-config \
		PYTHON_DIR="${module%/txtrace/*}" sh "$top/tests/tree/installed.sh" &&
		LD_LIBRARY_PATH=$dir/root$libdir "$dir/root/usr/bin/txtrace" --version
}

if step build build; then
	step rpmlint lint
	step contents contents
	step installed installed
fi
[ "$status" -ne 0 ] || echo "rpm: all pass; the packages are in $dir/packages"
exit "$status"
