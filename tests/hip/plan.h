// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shapes that a calibration of a dense model asks for and that no HIP kernel can run; each is printed.
int shapes_without_kernel();
