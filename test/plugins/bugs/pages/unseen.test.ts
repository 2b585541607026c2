/**
 * A title with characters that cannot be seen, as an intake takes it and the pages of a running
 * service show it.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { ask, Browser } from '../../../conformance/wire.js';

describe('bugs: invisible characters in titles', function () {
  let service: TestService;
  before(async () => {
    service = await TestService.createInProcess();
  });
  after(() => service.dispose());

  it('are marked on /bugs and on the item page, and stored unchanged', async () => {
    const token = await service.createToken('bugtracker:report,bugtracker:read,projects:manage');
    await ask(service, 'POST', '/api/projects/v1/projects', { token, body: { slug: 'shop' } });
    const title = 'Cannot open exe\u202egnp.invoice\u200b twice';
    const made = await ask(service, 'POST', '/api/bugtracker/v1/report', { token, body: { project: 'shop', title } });
    expect(made.status, made.text).to.equal(201);
    const ref = String(made.json['ref']);
    const browser = new Browser(service);
    await browser.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    for (const path of ['/bugs', `/bugs/${ref}`]) {
      const { status, text } = await browser.open('GET', path);
      expect(status, path).to.equal(200);
      expect(text, path).to.include('exe[U+202E]gnp.invoice[U+200B] twice');
      expect(text, path).not.to.match(/>[^<]*[\u202e\u200b]/);
    }
    const stored = await ask(service, 'GET', `/api/bugtracker/v1/bugs/${ref}`, { token });
    expect(stored.text).to.include(title);
  });
});
