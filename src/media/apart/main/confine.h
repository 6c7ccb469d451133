// What a process that decodes strangers' files may still do.
#pragma once

#include <cstdint>

namespace arrcoc::media {

// This process from now on: opens files for reading below /usr, /etc/fonts and fontconfig's caches
// (fonts of PDF files), and beyond that only computes, allocates, starts threads and talks over the
// descriptors that it has. Returns Refused bits for what the kernel does not offer. No limits under
// sanitizers, which need terabytes of addresses and system calls of their own.
// film: a descriptor of a file that may be opened again, or -1.
uint32_t confine(int film = -1);

}  // namespace arrcoc::media
