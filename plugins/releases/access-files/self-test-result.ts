import type { ProtectionState } from '../../../ports/domain/releases.js';

export interface ProductResult {
  product: string;
  protection: ProtectionState;
  /** By file; `package` is missing where the product has none. */
  statuses: Record<string, number | null>;
}

export interface SelfTestResult {
  at: string;
  protection: ProtectionState;
  products: ProductResult[];
  /** A web server in front served the store itself. */
  in_front?: boolean;
  address: string;
}

const OPEN_STATUSES: ReadonlySet<number | null | undefined> = new Set([200, 206, 304]);
export function combineResults(results: readonly ProductResult[]): ProtectionState {
  const seen = new Set(results.map(({ protection }) => protection));
  const order: ProtectionState[] = ['open', 'inconclusive', 'protected', 'no_packages'];
  return order.find((protection) => seen.has(protection)) ?? 'no_packages';
}

export function getProtection({ package: file, htpasswd }: Readonly<Record<string, number | null>>): ProtectionState {
  if ([file, htpasswd].some((status) => OPEN_STATUSES.has(status))) return 'open';
  if (file === undefined) return 'no_packages';
  return file === 401 && htpasswd === 403 ? 'protected' : 'inconclusive';
}
