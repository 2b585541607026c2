/** The editor of probes (contract 80). */
import { expect } from 'chai';
import probes from '../../../plugins/probes/plugin.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import { HttpFixture } from '../access/http-fixture.js';

describe('probe editor', () => {
  let fixture: HttpFixture;
  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [watchdog, probes] });
  });
  afterEach(() => fixture.stop());

  const probe = async (source: string): Promise<Record<string, unknown>> => {
    const token = await fixture.token(['watchdog:read', 'watchdog:manage']);
    const { json } = await fixture.api('GET', `/api/watchdog/v1/monitors/${source}`, token);
    return (json['monitor'] as { probe: Record<string, unknown> }).probe;
  };

  it('creates a probe from the form and shows it again', async () => {
    const browser = await fixture.signedIn();
    const made = await browser.post(
      '/probes/new',
      {
        source: 'shop',
        kind: 'http',
        url: 'https://127.0.0.1:9/',
        method: 'PUT',
        body: '{"q":1}',
        keyword_absent: 'error',
        inverted: 'true',
        insecure: 'true',
        resolver: '127.0.0.1:53',
      },
      '/probes/new',
    );
    expect(made.status, made.text).to.equal(303);
    const fields = { method: 'PUT', body: '{"q":1}', keyword_absent: 'error', inverted: true, insecure: true };
    expect(await probe('shop')).to.include({ ...fields, resolver: '127.0.0.1:53' });
    const page = (await browser.get('/probes/shop')).text;
    expect(page)
      .to.match(/name="inverted" value="true" checked/)
      .and.match(/name="insecure" value="true" checked/);
    expect(page).to.include('value="127.0.0.1:53"').and.include('value="error"');
  });

  it('creates a database probe, and shows an error at the invalid field', async () => {
    const browser = await fixture.signedIn();
    const given = { source: 'db', kind: 'redis', host: '127.0.0.1', tls: 'true' };
    const wrong = await browser.post('/probes/new', { ...given, resolver: 'dns.example' }, '/probes/new');
    expect(wrong.status).to.equal(422);
    expect(wrong.text).to.include('must be an address, or an address with a port');
    expect((await browser.post('/probes/new', given, '/probes/new')).status).to.equal(303);
    expect(await probe('db')).to.include({ kind: 'redis', port: 6379, tls: true });
  });
});
