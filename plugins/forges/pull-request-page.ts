/**
 * The page of a pull or merge request, whichever part of it an address leads to: people and agents copy
 * `…/pull/42/files#diff-1`, and forges tell of `…/pull/42`. Pure.
 */
const PAGE = /^\/.+\/(?:pull|pulls|merge_requests)\/\d{1,12}(?=\/|$)/i;

/** One text for all addresses of one request, in small letters, since no forge tells owners apart by those. */
export function pageOf(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  const [page = pathname] = PAGE.exec(pathname) ?? [];
  // The same page, whether or not a proxy in front of the forge speaks TLS.
  return `${host}${page.replace(/\/+$/, '')}`.toLowerCase();
}
