/**
 * What a page costs on the wire, by real requests: the list of bugs, and everything that a first
 * visit to it fetches.
 */
import { get } from 'node:http';
import { expect } from 'chai';
import { ADMIN_ACCOUNT, TestService } from '../support/service.js';
import { Browser } from '../conformance/wire.js';

const ROWS = 60;
const PAGE_BYTES = 15_000;
const VISIT_BYTES = 90_000;

describe('web: transfer size', () => {
  let service: TestService;
  let cookie: string;

  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    const token = await service.createToken('bugtracker:report');
    const words = 'amber birch cedar delta ember fern garnet hazel'.split(' ');
    const report = (i: number): object => ({
      project: 'shop',
      error_level: 'error',
      exception_class: `Shop.Orders.${words[i % 8]}Error`,
      error_message: `the order ${words[i >> 3]}-${words[i % 8]} could not be read from the store`,
      file_path: `src/orders/${words[i % 8]}.ts`,
      tags: ['checkout', words[i >> 3]],
    });
    const { status } = await service.request(
      'POST',
      '/api/errors/v1/report',
      token,
      Array.from({ length: ROWS }, (_, i) => report(i)),
    );
    expect(status).to.be.oneOf([200, 201]);
    const browser = new Browser(service);
    expect((await browser.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).status).to.equal(303);
    cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  });
  after(() => service?.dispose());

  /** As it travels: nothing is unpacked. */
  const fetched = (path: string, encoding: string): Promise<{ bytes: Buffer; encoding: string | undefined }> =>
    new Promise((resolve, reject) => {
      const headers = { cookie, accept: 'text/html', 'accept-encoding': encoding };
      get(service.url + path, { headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({ bytes: Buffer.concat(parts), encoding: response.headers['content-encoding'] }),
        );
      }).on('error', reject);
    });

  it('serves a full bug list below 15 KB, and its first visit with the font below 90 KB', async () => {
    const plain = (await fetched('/bugs', 'identity')).bytes.toString('utf8');
    expect(plain.match(/<tr data-ref=/g)?.length).to.equal(50);
    for (const encoding of ['br', 'gzip']) {
      const page = await fetched('/bugs', encoding);
      expect(page.encoding).to.equal(encoding);
      expect(page.bytes.length, encoding).to.be.below(PAGE_BYTES);
      const links = new Set(
        [...plain.matchAll(/(?:src|href)="(\/assets\/[^"#]+)/g)].map(([, link = '']) => link.replaceAll('&#x3D;', '=')),
      );
      expect(links.size).to.be.above(5);
      const version = /inter\.woff2\?v(?:=|&#x3D;)([0-9a-f]{16})/.exec(plain)?.[1];
      const styles = (await fetched('/assets/aos.css', 'identity')).bytes.toString('utf8');
      expect(styles, 'names the font that is preloaded').to.include(`inter.woff2?v=${version}`);
      let sum = page.bytes.length;
      for (const link of links) sum += (await fetched(link, encoding)).bytes.length;
      expect(sum, encoding).to.be.below(VISIT_BYTES);
    }
  });
});
