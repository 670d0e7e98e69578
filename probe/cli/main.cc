#include "probe/cli/run_cli.h"

int main(int argc, char** argv) { return probe::run_cli(argc, argv); }
