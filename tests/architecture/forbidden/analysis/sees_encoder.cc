// Must be refused: analysis may not see an encoder.
#include "encoders/encoder.h"
