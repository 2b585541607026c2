/** What DNS says of a name, each record as one text. */
import { Resolver } from 'node:dns/promises';
import { OutboundError } from '../../../ports/outbound.js';
import type { RecordType } from '../../../ports/reach.js';

/** Of one query, which is asked twice. */
const QUERY_MS = 2_500;
const MOST = 100;
const LONGEST = 500;
/** The answers that say "there is none", unlike those that say "I could not find out". */
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

/** Why nobody knows, by the resolver's code. */
const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no name server answers',
  EREFUSED: 'the name server refuses',
  ESERVFAIL: 'the name server failed',
  ETIMEOUT: 'the name server did not answer in time',
};

export class Records {
  readonly #resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });

  constructor(servers?: readonly string[]) {
    if (servers !== undefined) this.#resolver.setServers([...servers]);
  }

  /** @throws OutboundError dns */
  async of(name: string, type: RecordType): Promise<string[]> {
    try {
      const found: unknown = await this.#resolver.resolve(name, type);
      return (Array.isArray(found) ? found : [found]).slice(0, MOST).map((one) => textOf(one).slice(0, LONGEST));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      if (NONE.has(code)) return [];
      throw new OutboundError('dns', `${name} cannot be resolved: ${inWords(code)}`);
    }
  }
}

const inWords = (code: string): string => (Object.hasOwn(WHY, code) ? `${WHY[code]} (${code})` : code);

/** As a zone's file has it: `10 mail.example.org`; the parts of a TXT record are one text. */
function textOf(record: unknown): string {
  if (Array.isArray(record)) return record.join('');
  if (record === null || typeof record !== 'object') return String(record);
  const { priority, exchange, ...rest } = record as Record<string, string | number>;
  if (exchange !== undefined) return `${priority} ${exchange}`;
  return Object.values({ ...(priority !== undefined && { priority }), ...rest })
    .map(String)
    .join(' ');
}
