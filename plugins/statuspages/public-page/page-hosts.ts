/** Cached for a second, so that changes of other processes are visible within two. */
import { inject, injectable, type CustomHosts, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { DEPS } from '../deps.js';
import { getPagePath } from '../model/status-page.js';
import { StatusPageService } from '../store/status-page-service.js';

const CACHE_TTL_MS = 1_000;
const MAX_STALE_MS = 1_800;

@injectable()
export class PageHostResolver implements CustomHosts {
  #atHand: { paths: ReadonlyMap<string, string>; at: number } | null = null;
  #reading: Promise<ReadonlyMap<string, string>> | null = null;

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(StatusPageService) private readonly pages: StatusPageService,
  ) {}

  findPage(host: string): string | null | Promise<string | null> {
    const found = this.#atHand;
    const age = found === null ? Infinity : this.clock.monotonic() - found.at;
    if (found !== null && age < CACHE_TTL_MS) return found.paths.get(host) ?? null;
    const reading = this.#read();
    if (found !== null && age < MAX_STALE_MS) return found.paths.get(host) ?? null;
    return reading.then((paths) => paths.get(host) ?? null);
  }

  /** Never rejects: if the store fails, the last result is used. */
  #read(): Promise<ReadonlyMap<string, string>> {
    this.#reading ??= this.#readPaths()
      .catch((err: unknown) => {
        this.log.error({ err }, 'the hosts of status pages could not be loaded');
        return this.#atHand?.paths ?? new Map<string, string>();
      })
      .finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readPaths(): Promise<ReadonlyMap<string, string>> {
    const at = this.clock.monotonic();
    const pages = await this.pages.listWithCustomHost();
    const paths = new Map(pages.map((page) => [page.host ?? '', getPagePath(page)]));
    this.#atHand = { paths, at };
    return paths;
  }
}
