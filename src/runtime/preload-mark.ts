// How the preload is told from others: by the comment that it begins with.

/** Six bytes, so that they are the same eight characters in base64 whatever follows. */
export const PRELOAD_MARK = "/*rt*/";

export const PRELOAD_URL_START = "data:text/javascript;base64,LypydCov";
