#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [SUITE...]: build the packages of Debian in a fresh root directory of each suite, judge them, install them in
# another fresh root, and run the tests of debian/tests there.
#
#	build		dpkg-buildpackage, as a user who is not root
#	lintian		errors and warnings fail
#	blhc		the compiler and the linker got the hardening options of Debian, in each line of the log
#	again		a second build in another directory, by another user, with another time zone, locale and umask, has the
#			same bytes
#	installed	what installed.sh finds in the packages
#	tests		autopkgtest with the packages that were built
#
# It needs a checkout, root and Debian.  Environment:
#	PX_PACKAGES_DIR	where roots, packages and logs are (build/packages)
#	PX_MIRROR	the mirror of Debian
#	PX_JOBS		of make
# shellcheck disable=SC2016,SC2317  # programs of other shells; functions that others call
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${PX_PACKAGES_DIR:-$PWD/packages}
roots=$dir/roots
jobs=${PX_JOBS:-$(getconf _NPROCESSORS_ONLN)}
# shellcheck source=tests/support/root.sh
. "$top/tests/support/root.sh"
[ "$(id -u)" -eq 0 ] || fail 'only root can make root directories'
git -C "$top" rev-parse >/dev/null 2>&1 || fail 'these sources are no checkout'
[ $# -gt 0 ] || set -- bookworm trixie bullseye
mkdir -p "$dir" || exit 1
status=0

# step SUITE NAME COMMAND...: run it with a log, and say how it ended
step()
{
	suite=$1 name=$2
	shift 2
	if "$@" >"$dir/$suite-$name.log" 2>&1; then
		echo "$suite: $name: pass"
		return
	fi
	echo "$suite: $name: FAIL, the end of $dir/$suite-$name.log:"
	tail -n 15 "$dir/$suite-$name.log"
	status=1
	return 1
}

# put_sources ROOT: the sources, as they are, in /build/posixtrace
put_sources()
{
	mkdir -p "$1/build/posixtrace" && (cd "$top" && git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
		tar --null -T - -c) | tar -x --no-same-owner -C "$1/build/posixtrace"
}

build()
{
	new_root "$suite" "$root" && put_sources "$root" && in_root "$root" sh -ec '
		apt-get update -qq
		apt-get build-dep -y -qq --no-install-recommends /build/posixtrace
		useradd -m builder
		chown -R builder: /build
		cd /build/posixtrace
		exec setpriv --reuid=builder --regid=builder --clear-groups env HOME=/home/builder \
			DEB_BUILD_OPTIONS="parallel=$1" dpkg-buildpackage -us -uc -b' - "$jobs"
}

# The maintainers have no public address for mail, which is a fault of the archive and not of these packages.  With
# --show-overrides, lintian fails for overridden tags, too.
lint()
{
	in_root "$root" sh -ec '
		apt-get install -y -qq --no-install-recommends lintian >/dev/null
		cd /build
		setpriv --reuid=builder --regid=builder --clear-groups \
			lintian --fail-on error,warning --display-level ">=warning" \
			--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog *.changes'
}

# The compiler of Debian makes position-independent programs without an option, so blhc must not ask for one.
check_hardening()
{
	in_root "$root" sh -ec 'apt-get install -y -qq --no-install-recommends blhc >/dev/null'
	cp "$dir/$suite-build.log" "$root/build/build.log" && in_root "$root" blhc --bindnow /build/build.log
}

# A second build must not depend on where, when and by whom it runs.
build_again()
{
	mkdir -p "$root/build/first" && mv "$root"/build/*.deb "$root/build/first" &&
		in_root "$root" sh -ec '
		mkdir /elsewhere
		mv /build/posixtrace /elsewhere/another-name
		cd /elsewhere/another-name
		useradd -m -s /bin/bash second
		chown -R second: /elsewhere
		setpriv --reuid=second --regid=second --clear-groups sh -ec "
			umask 027
			export HOME=/home/second TZ=Pacific/Auckland LC_ALL=C LANG=C
			dpkg-buildpackage -us -uc -b -rfakeroot -T clean || debian/rules clean
			DEB_BUILD_OPTIONS=\"nocheck parallel=$1\" dpkg-buildpackage -us -uc -b"
		mkdir -p /build/second
		mv /elsewhere/*.deb /build/second' - "$jobs" &&
		(cd "$root/build/first" && sha256sum -- *.deb) >"$dir/sums" && cat "$dir/sums" &&
		(cd "$root/build/second" && sha256sum -c "$dir/sums")
}

look()
{
	new_root "$suite" "$root" && put_sources "$root" && mkdir "$root/build/debs" &&
		cp "$packages"/*.deb "$root/build/debs" && in_root "$root" sh -ec '
		apt-get update -qq
		exec bash /build/posixtrace/tests/packages/installed.sh /build/debs /build/posixtrace'
}

run_tests()
{
	new_root "$suite" "$root" && put_sources "$root" && cp "$packages"/*.deb "$root/build" && in_root "$root" sh -ec '
		apt-get update -qq
		apt-get install -y -qq --no-install-recommends autopkgtest >/dev/null
		cd /build
		autopkgtest --no-built-binaries --output-dir=/build/out --timeout-factor=3 *.deb posixtrace/ -- null'
}

for suite in "$@"; do
	base_root "$suite"
	root=$dir/root-$suite
	packages=$dir/$suite
	if step "$suite" build build; then
		rm -rf "$packages"
		mkdir "$packages"
		mv "$root"/build/*.deb "$packages"
		cp "$packages"/*.deb "$root/build"
		step "$suite" lintian lint
		step "$suite" blhc check_hardening
		step "$suite" again build_again
		step "$suite" installed look
		step "$suite" tests run_tests
		grep -hE '^[a-z0-9-]+ +(PASS|FAIL|SKIP)' "$dir/$suite-tests.log" | sort -u
	fi
	rm -rf --one-file-system "$root"
done
[ "$status" -ne 0 ] || echo "packages: all of $* pass; they are in $dir"
exit "$status"
