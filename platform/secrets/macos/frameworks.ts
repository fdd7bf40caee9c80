// Where macOS has what is called here. None of these is a file since macOS 11: the loader knows them by their paths.

export const CORE_FOUNDATION = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
export const SECURITY = "/System/Library/Frameworks/Security.framework/Security";
export const OBJECTIVE_C = "/usr/lib/libobjc.A.dylib";
