import { Resolver } from 'node:dns/promises';
import { OutboundError } from '../../../ports/outbound.js';
import type { RecordType } from '../../../ports/network-probe.js';
import { getErrorCode, NO_RECORD_CODES, parseDnsServer } from '../host-resolver.js';

const QUERY_TIMEOUT_MS = 2_500;
const RESOLVER_OPTIONS = { timeout: QUERY_TIMEOUT_MS, tries: 2 };
const MAX_RECORDS = 100;
const MAX_RECORD_LENGTH = 500;

const RESOLVER_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no name server responds',
  EREFUSED: 'the name server refused the query',
  ESERVFAIL: 'the name server failed',
  ETIMEOUT: 'the name server did not respond in time',
};

export class RecordResolver {
  readonly #resolver = new Resolver(RESOLVER_OPTIONS);

  constructor(servers?: readonly string[]) {
    if (servers !== undefined) this.#resolver.setServers([...servers]);
  }

  /** @throws OutboundError dns */
  async lookup(name: string, type: RecordType, server?: string): Promise<string[]> {
    try {
      const found: unknown = await this.#getResolver(server).resolve(name, type);
      return (Array.isArray(found) ? found : [found])
        .slice(0, MAX_RECORDS)
        .map((one) => formatRecord(one).slice(0, MAX_RECORD_LENGTH));
    } catch (error) {
      const code = getErrorCode(error);
      if (NO_RECORD_CODES.has(code)) return [];
      throw new OutboundError('dns', `${name} cannot be resolved: ${describeResolverCode(code)}`);
    }
  }

  #getResolver(server: string | undefined): Resolver {
    if (server === undefined) return this.#resolver;
    const resolver = new Resolver(RESOLVER_OPTIONS);
    resolver.setServers([parseDnsServer(server).server]);
    return resolver;
  }
}

const describeResolverCode = (code: string): string =>
  Object.hasOwn(RESOLVER_MESSAGES, code) ? `${RESOLVER_MESSAGES[code]} (${code})` : code;

function formatRecord(record: unknown): string {
  if (Array.isArray(record)) return record.join('');
  if (record === null || typeof record !== 'object') return String(record);
  const { priority, exchange, critical, weight, port, name, ...rest } = record as Record<string, string | number>;
  if (exchange !== undefined) return `${priority} ${exchange}`;
  if (critical !== undefined)
    return Object.entries(rest)
      .filter(([tag]) => tag !== 'type')
      .map(([tag, value]) => `${critical} ${tag} "${value}"`)
      .join(', ');
  if (weight !== undefined) return `${priority} ${weight} ${port} ${name}`;
  return Object.values(rest).map(String).join(' ');
}
