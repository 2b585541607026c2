import { expect } from 'chai';
import { findSecrets } from '../../../../kernel/contract/joi.js';
import access from '../../../../plugins/access/plugin.js';
import { oidcSchema } from '../../../../plugins/access/oidc/settings.js';

describe('access: settings of OpenID Connect', () => {
  const good = { issuer: 'https://login.example.com/realms/aos', client_id: 'aos' };
  const check = (given: object): string => oidcSchema.validate({ ...good, ...given }).error?.message ?? '';

  it('accepts an issuer with its client', () => {
    expect(check({})).to.equal('');
    expect(check({ issuer: 'http://localhost:8090' })).to.equal('');
    expect(check({ role_map: { 'aos-admins': 'admin' }, allowed_domains: ['Example.com'] })).to.equal('');
  });

  for (const [name, given] of Object.entries<Record<string, unknown>>({
    'plain http to another machine': { issuer: 'http://login.example.com' },
    'another scheme': { issuer: 'file:///etc/passwd' },
    'an issuer with a password': { issuer: 'https://a:b@login.example.com' },
    'an issuer with a query': { issuer: 'https://login.example.com/?a=b' },
    'no URL': { issuer: 'login' },
    'an issuer without a client': { client_id: '' },
    'an unknown role': { role_map: { staff: 'owner' } },
    'a scope with a space': { scopes: ['openid email'] },
    'a domain with an at sign': { allowed_domains: ['ada@example.com'] },
    'an unknown key': { client: 'aos' },
  }))
    it(`rejects ${name}`, () => {
      expect(check(given)).to.not.equal('');
    });

  it('always asks for an ID token', () => {
    expect(oidcSchema.validate({ scopes: ['email'] }).value).to.have.deep.property('scopes', ['openid', 'email']);
  });

  it('marks the client’s secret', () => {
    expect(findSecrets(oidcSchema, { ...good, client_secret: 'hidden' })).to.deep.equal(['hidden']);
  });

  it('reads auth.local from environment variables, which are text', () => {
    const read = (local: unknown): unknown => access.config?.validate({ local }).value?.local as unknown;
    expect(['true', 'false', 'recovery', false].map(read)).to.deep.equal([true, false, 'recovery', false]);
    expect(access.config?.validate({ local: 'never' }).error?.message).to.include('must be true, false or recovery');
  });
});
