/** Hosts as URLs and the header `Host` write them. */

/** The address in `[::1]`; other hosts are returned unchanged. */
export const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

/** The host in a header `Host`, without its port and brackets. */
export const parseHostHeader = (header: string): string => stripBrackets(header.replace(/:\d+$/, ''));
