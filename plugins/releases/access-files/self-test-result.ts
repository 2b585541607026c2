/** What a self-test saw, and what it means (contract 40, self-test). Pure. */
import type { Protection } from '../../../ports/domain/releases.js';

export interface ProductResult {
  product: string;
  protection: Protection;
  /** By file; null: no answer. `package` is missing where the product has none. */
  statuses: Record<string, number | null>;
}

export interface SelfTestResult {
  at: string;
  protection: Protection;
  products: ProductResult[];
  /** A web server in front served the store itself, and did not hand the question on. */
  in_front?: boolean;
  /** Where it asked. */
  address: string;
}

const OPEN: ReadonlySet<number | null | undefined> = new Set([200, 206, 304]);
/** The worst that was seen. */
export function overall(results: readonly ProductResult[]): Protection {
  const seen = new Set(results.map(({ protection }) => protection));
  const order: Protection[] = ['open', 'inconclusive', 'protected', 'no_packages'];
  return order.find((protection) => seen.has(protection)) ?? 'no_packages';
}

/** What the statuses of one product say. */
export function protectionOf({ package: file, htpasswd }: Readonly<Record<string, number | null>>): Protection {
  if ([file, htpasswd].some((status) => OPEN.has(status))) return 'open';
  if (file === undefined) return 'no_packages';
  return file === 401 && htpasswd === 403 ? 'protected' : 'inconclusive';
}
