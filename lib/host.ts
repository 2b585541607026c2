/** Returns the address in `[::1]`; other hosts unchanged. */
export const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

export const parseHostHeader = (header: string): string => stripBrackets(header.replace(/:\d+$/, ''));
