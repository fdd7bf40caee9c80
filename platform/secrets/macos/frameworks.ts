// Paths of macOS frameworks. Since macOS 11 they are not files: only the loader resolves them.

export const CORE_FOUNDATION = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
export const SECURITY = "/System/Library/Frameworks/Security.framework/Security";
export const OBJECTIVE_C = "/usr/lib/libobjc.A.dylib";
