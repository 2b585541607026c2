import { Resolver } from 'node:dns/promises';
import { OutboundError } from '../../../ports/outbound.js';
import type { RecordType } from '../../../ports/reach.js';
import { getErrorCode, NO_RECORD, parseServer } from '../names.js';

/** Timeout of one query, which is sent twice. */
const QUERY_MS = 2_500;
const OPTIONS = { timeout: QUERY_MS, tries: 2 };
const MOST = 100;
const LONGEST = 500;

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no name server answers',
  EREFUSED: 'the name server refuses',
  ESERVFAIL: 'the name server failed',
  ETIMEOUT: 'the name server did not answer in time',
};

export class Records {
  readonly #resolver = new Resolver(OPTIONS);

  constructor(servers?: readonly string[]) {
    if (servers !== undefined) this.#resolver.setServers([...servers]);
  }

  /**
   * @param server overrides the default servers
   * @throws OutboundError dns
   */
  async of(name: string, type: RecordType, server?: string): Promise<string[]> {
    try {
      const found: unknown = await this.#resolverOf(server).resolve(name, type);
      return (Array.isArray(found) ? found : [found]).slice(0, MOST).map((one) => textOf(one).slice(0, LONGEST));
    } catch (error) {
      const code = getErrorCode(error);
      if (NO_RECORD.has(code)) return [];
      throw new OutboundError('dns', `${name} cannot be resolved: ${inWords(code)}`);
    }
  }

  #resolverOf(server: string | undefined): Resolver {
    if (server === undefined) return this.#resolver;
    const resolver = new Resolver(OPTIONS);
    resolver.setServers([parseServer(server).server]);
    return resolver;
  }
}

const inWords = (code: string): string => (Object.hasOwn(WHY, code) ? `${WHY[code]} (${code})` : code);

/**
 * Formats a record as in a zone file (`10 mail.example.org`); the parts of a TXT record are joined.
 */
function textOf(record: unknown): string {
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
