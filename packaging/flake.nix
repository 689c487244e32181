# SPDX-License-Identifier: MIT
# nix build '.?dir=packaging' builds the library and the tool from a checkout.
{
  description = "The POSIX trace interface <trace.h> for Linux, and the tool txtrace";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      package = pkgs: pkgs.stdenv.mkDerivation {
        pname = "posixtrace";
        version = "0.1.0";
        src = ./..;
        nativeBuildInputs = with pkgs; [ autoreconfHook pkg-config protobufc python3 ];
        buildInputs = with pkgs; [ babeltrace2 elfutils libedit protobufc sqlite xz zlib zstd ];
        checkInputs = with pkgs; [ check ];
        # The scripts have paths of other systems in their first lines.
        postPatch = "patchShebangs .";
        configureFlags = [ "--with-python=${placeholder "out"}/${pkgs.python3.sitePackages}" ];
        enableParallelBuilding = true;
        doCheck = true;
        # The other tests need a machine of their own: they fill disks, and kill processes. So do not build them, either.
        preCheck = ''
          suites="tests/base/clock tests/txtb/txtb tests/ring/ring tests/api/event tests/api/getnext"
          checkFlagsArray+=("TESTS=$suites" "check_PROGRAMS=$suites tests/tool/mktrx tests/tool/mksched")
        '';
        meta = {
          description = "The POSIX trace interface <trace.h> for Linux, and the tool txtrace";
          license = pkgs.lib.licenses.mit;
          platforms = pkgs.lib.platforms.linux;
          mainProgram = "txtrace";
        };
      };
    in {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
