import { expect } from 'chai';
import { Redirect } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { toLocalPath, themePage } from '../../../plugins/dashboard/theme-page.js';
import { Html } from '../../../web/helpers/html.js';
import { renderFile } from '../../web/templates.js';
import { request, session } from '../health/fakes.js';

const post = (body: unknown): unknown => themePage.handle(request(session('member'), { method: 'POST', body }));

describe('POST /theme', () => {
  it('stores the choice for a year and redirects back', () => {
    const answer = post({ theme: 'dark', back: '/bugs?status=open', csrf_token: 'x' }) as Redirect;
    expect(answer).to.be.instanceOf(Redirect).and.include({ location: '/bugs?status=open' });
    expect(answer.cookies).to.deep.equal([{ name: 'svc_theme', value: 'dark', maxAgeSeconds: 31_536_000 }]);
  });

  it('rejects an invalid theme', () => {
    for (const body of [{ theme: 'pink' }, {}, null, { theme: ['dark'] }]) {
      expect(() => post(body))
        .to.throw(ServiceError)
        .with.property('code', 'validation_failed');
    }
  });

  it('never redirects to another host', () => {
    for (const back of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/a\r\nSet-Cookie: x',
      '',
      'bugs',
      '/\t/evil',
    ]) {
      expect(toLocalPath(back), JSON.stringify(back)).to.equal('/');
    }
    expect(toLocalPath('/bugs/shop-1?a=b%20c')).to.equal('/bugs/shop-1?a=b%20c');
  });
});

describe('/', () => {
  const steps = ['curl …', 'claude …'].map((command, i) => ({
    id: `s${i}`,
    title: 'Do',
    text: '',
    command,
    page: { label: 'There', href: '/there' },
    done: i === 0,
  }));
  const view = (panels: object, first: object | null = null): string =>
    renderFile('plugins/dashboard/views/dashboard.hbs', { panels, first });

  it('folds the steps into one line that tells how many are done', () => {
    const html = view({ attention: [], side: [] }, { steps, done: 1, all: 2 });
    expect(html.match(/data-copy=/g)).to.have.length(2);
    expect(html)
      .to.match(/<details>\s*<summary>[^]*?Setup 1 of 2/)
      .and.include('id="step-s1"')
      .and.match(/is-done[\s\S]*Done/);
  });

  it('shows panels by kind as rendered by their plugins, and hides the completed steps', () => {
    const html = view({
      state: [{ id: 'monitors.state', html: new Html('<i>Good</i>') }],
      stat: [{ id: 'errors.day', html: new Html('<a>5</a>') }],
      chart: [{ id: 'errors.traffic', html: new Html('<svg></svg>') }],
      attention: [{ id: 'bugs.critical', html: new Html('<b>2</b>') }],
      side: [{ id: 'own.card', html: new Html('<u>card</u>') }],
      needed: 2,
    });
    const order = ['monitors.state', 'errors.day', 'errors.traffic', 'bugs.critical', 'own.card'];
    expect([...html.matchAll(/id="panel-([\w.]+)"/g)].map(([, id]) => id)).to.deep.equal(order);
    expect(html)
      .to.match(/Needs you.*2/)
      .and.not.include('data-copy');
  });

  it('shows that nothing is pending', () => {
    expect(view({ attention: [], side: [{ id: 'x', html: '' }] })).to.include('All clear');
  });
});
