import { expect } from 'chai';
import {
  buildCustomerPageUrl,
  buildKeyMessage,
  buildMailtoUrl,
  toMailHtml,
} from '../../../plugins/licensing/pages/key-message.js';
import { LicenseKeySender } from '../../../plugins/licensing/pages/key-delivery.js';
import type { LicensePageServices } from '../../../plugins/licensing/pages/page-context.js';
import type { LicenseDoc } from '../../../plugins/licensing/model/documents.js';
import type { OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { ManualClock } from '../access/fixture.js';

const KEY = '52DUA-9PWAF-YNSJF-ELGXK-49KY6';
const LICENSE = {
  product: 'till',
  licensee: 'Ada & <Co>',
  expires_at: '2027-01-31T23:59:59.000Z',
  max_activations: 5,
  floating: false,
};

describe('licensing: the message with a key', () => {
  const where = { product: 'Till', seller: 'Shop Ltd', url: buildCustomerPageUrl('https://aos.example', 'till') };
  const message = buildKeyMessage(LICENSE, KEY, where);

  it('names the key, its terms and the customer page', () => {
    expect(message.subject).to.equal('Your license key for Till');
    for (const part of ['Hello Ada & <Co>,', KEY, 'Valid for 5 machines.', 'Expires 2027-01-31.', 'Shop Ltd'])
      expect(message.text).to.include(part);
    expect(message.text).to.include('https://aos.example/license/till');
  });

  it('leaves out terms that the license does not have', () => {
    const { text } = buildKeyMessage(
      { ...LICENSE, licensee: null, expires_at: null, max_activations: null },
      KEY,
      where,
    );
    expect(text)
      .to.include('Hello,')
      .and.not.match(/Valid for|Expires/);
  });

  it('escapes the mail’s HTML and the mail link', () => {
    expect(toMailHtml(message.text)).to.include('Ada &amp; &lt;Co&gt;').and.not.include('<Co>');
    const url = buildMailtoUrl('a?b&c@x.example', message);
    expect(url).to.match(/^mailto:a%3Fb%26c@x\.example\?subject=Your%20license/);
    expect(decodeURIComponent(url)).to.include(KEY);
  });
});

describe('licensing: sending a key', () => {
  function createSender(isConfigured = true) {
    const clock = new ManualClock();
    const mails: OutgoingMail[] = [];
    const audited: object[] = [];
    const mail = { isConfigured, enqueue: async (some: readonly OutgoingMail[]) => void mails.push(...some) };
    const deps = {
      clock,
      mail: () => mail,
      baseUrl: () => 'https://aos.example',
      projects: { get: async () => ({ name: 'Till' }) },
      brands: { find: async () => null, findCommon: async () => null },
      audit: { record: async (...entry: unknown[]) => void audited.push(entry) },
    };
    const parts = { deps, licenses: { decryptKey: () => KEY } } as unknown as LicensePageServices;
    return { sender: new LicenseKeySender(parts), clock, mails, audited };
  }
  const license = (id: string, email: string | null = 'ada@example.com'): LicenseDoc =>
    ({ ...LICENSE, id, email, key_masked: '*****-49KY6' }) as Partial<LicenseDoc> as LicenseDoc;
  const admin = { kind: 'public' } as const;
  const codeOf = (run: Promise<unknown>): Promise<string> =>
    run.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );

  it('mails the key, and audits the address and the masked key only', async () => {
    const { sender, mails, audited } = createSender();
    expect(await sender.send(admin, license('l1'))).to.equal('ada@example.com');
    expect(mails).to.have.length(1);
    expect(mails[0]).to.include({ to: 'ada@example.com', subject: 'Your license key for Till' });
    expect(mails[0]?.text).to.include(KEY);
    expect(JSON.stringify(audited)).to.include('license.key_sent').and.include('ada@example.com').and.not.include(KEY);
  });

  it('sends a key once in five minutes', async () => {
    const { sender, clock, mails } = createSender();
    await sender.send(admin, license('l1'));
    expect(await codeOf(sender.send(admin, license('l1')))).to.equal('rate_limited');
    expect(await codeOf(sender.send(admin, license('l2')))).to.equal('ok');
    clock.forward(5 * 60_000 + 1);
    expect(await codeOf(sender.send(admin, license('l1')))).to.equal('ok');
    expect(new Set(mails.map(({ id }) => id)).size).to.equal(3);
  });

  it('sends at most a hundred keys in an hour', async () => {
    const { sender, clock } = createSender();
    for (let i = 0; i < 100; i++) await sender.send(admin, license(`l${i}`));
    expect(await codeOf(sender.send(admin, license('l100')))).to.equal('rate_limited');
    clock.forward(3_600_000);
    expect(await codeOf(sender.send(admin, license('l100')))).to.equal('ok');
  });

  it('sends nothing without an address or a mail server', async () => {
    const { sender, mails } = createSender();
    expect(await codeOf(sender.send(admin, license('l1', null)))).to.equal('validation_failed');
    expect(await codeOf(createSender(false).sender.send(admin, license('l1')))).to.equal('conflict');
    expect(mails).to.deep.equal([]);
  });
});
