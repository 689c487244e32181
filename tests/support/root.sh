# SPDX-License-Identifier: MIT
# For scripts that build and test in root directories of Debian: sourced, not run.  As root, on Debian.
#
#	make_root SUITE PACKAGES TARGET [OPTION...]
#				a new root with these packages: a directory, or an archive (*.tar); options of mmdebstrap
#	base_root SUITE		make $roots/SUITE.tar, a small root for builds, if it is missing
#	new_root SUITE ROOT	unpack it into ROOT, which is new
#	in_root ROOT COMMAND...	in a mount and a process name space of its own; each directory of the array $binds is there at
#				the same path.  A root with a name that ends with -i386 has a kernel of 32 bits.
# shellcheck shell=bash
# shellcheck source=tests/support/commands.sh
. "$(dirname "${BASH_SOURCE[0]}")/commands.sh"
mirror=${PX_MIRROR:-http://deb.debian.org/debian}
binds=()

make_root()
{
	want mmdebstrap mmdebstrap
	mkdir -p "$(dirname "$3")" || exit 1
	mmdebstrap --quiet --variant=minbase --mode=root --include="$2" "${@:4}" "$1" "$3" "$mirror" ||
		fail "no root directory of $1"
}

base_root()
{
	# shellcheck disable=SC2154  # of the script
	[ -e "$roots/$1.tar" ] && return
	make_root "$1" build-essential,ca-certificates "$roots/$1.new.tar"
	mv "$roots/$1.new.tar" "$roots/$1.tar"
}

new_root()
{
	if ! { rm -rf --one-file-system "$2" && mkdir -p "$2" && tar -xf "$roots/$1.tar" -C "$2"; }; then
		fail "cannot unpack $roots/$1.tar"
	fi
}

in_root()
{
	# shellcheck disable=SC2016
	unshare -m -p -f --kill-child bash -c '
		root=$1 nr_binds=$2
		shift 2
		mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" && mount -t sysfs sysfs "$root/sys" || exit 99
		for ((; nr_binds > 0; nr_binds--)); do
			mkdir -p "$root$1" && mount --bind "$1" "$root$1" || exit 99
			shift
		done
		! [ -e /etc/resolv.conf ] || cat /etc/resolv.conf >"$root/etc/resolv.conf"
		case $root in *-i386) set -- linux32 chroot "$root" "$@" ;; *) set -- chroot "$root" "$@" ;; esac
		exec env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' - "$1" "${#binds[@]}" "${binds[@]}" "${@:2}" </dev/null
}
