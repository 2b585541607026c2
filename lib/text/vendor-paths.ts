/** A source of a bundled library: an SDK takes all that a page loads for the application's. */
export const VENDOR_PATH = /(?:^|\/)(?:node_modules|bower_components)\//;
