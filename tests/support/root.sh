# SPDX-License-Identifier: MIT
# For scripts that build and test in root directories of Debian: sourced, not run.  As root, on Debian.
#
#	$roots			where the root directories are
#	want PROGRAM PACKAGE	install the package if the program is missing
#	base_root SUITE		make $roots/SUITE.tar, a small root with the packages of $base_packages, if it is missing
#	new_root SUITE ROOT	unpack it into ROOT, which is new
#	in_root ROOT COMMAND...	in a mount and a process name space of its own; each directory of $binds is there, too
# shellcheck shell=bash disable=SC2034,SC2154
mirror=${PX_MIRROR:-http://deb.debian.org/debian}
base_packages=build-essential,ca-certificates
binds=

fail()
{
	echo "$(basename "$(dirname "$0")"): $1" >&2
	exit 1
}

want()
{
	command -v "$1" >/dev/null && return
	echo "installing $2"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" </dev/null >/dev/null 2>&1 ||
		fail "cannot install $2"
}

base_root()
{
	[ -e "$roots/$1.tar" ] && return
	want mmdebstrap mmdebstrap
	mkdir -p "$roots"
	mmdebstrap --quiet --variant=minbase --mode=root --include="$base_packages" "$1" "$roots/$1.tar.new" "$mirror" ||
		fail "no root directory of $1"
	mv "$roots/$1.tar.new" "$roots/$1.tar"
}

new_root()
{
	rm -rf --one-file-system "$2" && mkdir -p "$2" && tar -xf "$roots/$1.tar" -C "$2" ||
		fail "cannot unpack $roots/$1.tar"
}

in_root()
{
	# shellcheck disable=SC2016
	unshare -m -p -f --kill-child bash -c '
		root=$1 binds=$2
		shift 2
		mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" && mount -t sysfs sysfs "$root/sys" || exit 99
		for directory in $binds; do
			mkdir -p "$root$directory" && mount --bind "$directory" "$root$directory" || exit 99
		done
		! [ -e /etc/resolv.conf ] || cat /etc/resolv.conf >"$root/etc/resolv.conf"
		exec chroot "$root" env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' - "$1" "$binds" "${@:2}" </dev/null
}
