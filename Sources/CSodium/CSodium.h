#ifndef CSODIUM_H
#define CSODIUM_H
#include <sodium.h>
#endif
