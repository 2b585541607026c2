/** Resolves a host to permitted addresses (contract 70, delivery, egress). */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { OutboundError, type EgressPolicy } from '../../ports/outbound.js';
import { findAddressBlock } from './egress.js';
import { getErrorCode, parseDnsServer, resolveAtServer } from './host-resolver.js';

export interface CheckedHost {
  /** A name, or an address without brackets. */
  host: string;
  policy: EgressPolicy;
  resolver?: string;
}

/** @throws OutboundError blocked */
export function requireAllowedResolver(resolver: string, policy: EgressPolicy): void {
  const reason = findAddressBlock(parseDnsServer(resolver).address, policy);
  if (reason !== null) throw new OutboundError('blocked', `the resolver ${resolver}: ${reason}`);
}

/**
 * Every address must pass the policy.
 * @param checkAddress returns why an address is blocked
 * @throws OutboundError dns, blocked
 */
export async function resolveChecked(
  { host, policy, resolver }: CheckedHost,
  resolve: (hostname: string) => Promise<LookupAddress[]>,
  checkAddress = findAddressBlock,
): Promise<LookupAddress[]> {
  if (resolver !== undefined) requireAllowedResolver(resolver, policy);
  const found = await findAddresses(host, resolver, resolve);
  if (found.length === 0) throw new OutboundError('dns', `${host} has no address`);
  for (const { address } of found) {
    const reason = checkAddress(address, policy);
    if (reason !== null) throw new OutboundError('blocked', address === host ? reason : `${host}: ${reason}`);
  }
  return found;
}

async function findAddresses(
  host: string,
  resolver: string | undefined,
  resolve: (hostname: string) => Promise<LookupAddress[]>,
): Promise<LookupAddress[]> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  try {
    return await (resolver === undefined ? resolve(host) : resolveAtServer(resolver, host));
  } catch (error) {
    throw new OutboundError('dns', `${host} cannot be resolved: ${getErrorCode(error)}`);
  }
}
