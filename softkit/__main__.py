"""python -m softkit doctor: what this build is, whether it works here, and how fast."""

import argparse
import sys

from softkit import doctor


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m softkit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="build, versions, self test and speeds; exits with 1 on a fault")
    parser.parse_args(argv)
    return doctor.main()


if __name__ == "__main__":
    sys.exit(main())
