import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { OutboundError, type Outbound } from '../../../ports/outbound.js';
import { ACCESS_FILES_DEPS, type AccessFilesDoc } from './deps.js';
import { buildHeaderLine } from './access-file-texts.js';
import { AccessFileGenerator, STATE_ID } from './access-file-generator.js';
import { SELF_TEST_HEADER, signSelfTest } from './self-test-signature.js';
import { combineResults, getProtection, type ProductResult, type SelfTestResult } from './self-test-result.js';
import type { ReleaseStore, ReleaseLocation } from '../../../ports/release-store.js';

const READ_BYTES = 1_024;
const REQUEST_TIMEOUT_MS = 10_000;

@injectable()
export class StoreSelfTest {
  constructor(
    @inject(ACCESS_FILES_DEPS.store) private readonly store: ReleaseStore,
    @inject(ACCESS_FILES_DEPS.rows) private readonly rows: Collection<AccessFilesDoc>,
    @inject(ACCESS_FILES_DEPS.clock) private readonly clock: Clock,
    @inject(ACCESS_FILES_DEPS.log) private readonly log: Logger,
    @inject(ACCESS_FILES_DEPS.outbound) private readonly outbound: Outbound,
    @inject(ACCESS_FILES_DEPS.newest) private readonly newest: (product: string) => Promise<ReleaseLocation | null>,
    @inject(ACCESS_FILES_DEPS.address) private readonly address: () => string,
    @inject(ACCESS_FILES_DEPS.selfTestKey) private readonly selfTestKey: Buffer,
    @inject(AccessFileGenerator) private readonly files: AccessFileGenerator,
  ) {}

  async run(): Promise<SelfTestResult & { changed: boolean }> {
    const { store, clock, rows, log, address } = this;
    const before = (await this.files.getState())?.self_test;
    const products: ProductResult[] = [];
    let in_front = false;
    for (const product of await store.access.listProducts()) {
      const { handed_on, ...result } = await this.#testProduct(product);
      products.push(result);
      in_front ||= !handed_on;
    }
    const result = { at: clock.iso(), protection: combineResults(products), products, in_front, address: address() };
    await rows.change({ id: STATE_ID }, { set: { self_test: result as never } }, { upsert: true });
    if (result.protection === 'open' || result.protection === 'inconclusive')
      log.error({ ...result }, 'the release store does not deny anonymous access');
    return { ...result, changed: toSummary(before) !== toSummary(result) };
  }

  async #testProduct(product: string): Promise<ProductResult & { handed_on: boolean }> {
    const newest = await this.newest(product);
    const list = await this.#request(`${product}/.htpasswd`, READ_BYTES);
    const statuses: Record<string, number | null> = { htpasswd: list.status };
    if (newest !== null) {
      const { channel, version, platform } = newest;
      statuses['package'] = (
        await this.#request([product, channel, version, platform, 'package.tar.gz'].join('/'), 1)
      ).status;
    }
    // An inaccessible store is safer than exposed hashes.
    if (list.status === 200 && list.text.split('\n', 1)[0] === buildHeaderLine(product)) {
      this.log.error({ product }, 'the web server serves .htpasswd: its hashes were removed');
      await this.files.emptyExposed(product);
    }
    return { product, protection: getProtection(statuses), statuses, handed_on: list.ours };
  }

  async #request(path: string, maxBytes: number): Promise<{ status: number | null; text: string; ours: boolean }> {
    const { outbound, address, selfTestKey, clock } = this;
    try {
      const { status, headers, body } = await outbound.request({
        method: 'GET',
        url: `${address()}/releases/${path}`,
        headers: { [SELF_TEST_HEADER]: signSelfTest(selfTestKey, `/releases/${path}`, clock.now()) },
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxBytes,
        policy: { mode: 'private-ok', allow: [] },
      });
      // The web server's own responses have no request id.
      return { status, text: body.toString('utf8'), ours: headers['x-request-id'] !== undefined };
    } catch (error) {
      if (error instanceof OutboundError) return { status: null, text: '', ours: true };
      throw error;
    }
  }
}

const toSummary = (result: SelfTestResult | undefined): string =>
  result === undefined ? '' : JSON.stringify([result.protection, result.products]);
