/** Slugs that name a directory of the system (contract 90, setup.json). */
import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { isSystemDirectoryName } from '../../../lib/formats/system-names.js';

describe('slugs of system directories', () => {
  it('include those of the contract, every drop-in and every periodic script directory', () => {
    for (const slug of ['profile.d', 'systemd', 'ssh', 'cron.d', 'sudoers.d', 'pam.d', 'apt'])
      expect(isSystemDirectoryName(slug), slug).to.equal(true);
    for (const slug of [
      'cron.daily',
      'ld.so.conf.d',
      'anything.d',
      'update-agent',
      'rc2.d',
      'init.d',
      'udev',
      'microsoft',
    ])
      expect(isSystemDirectoryName(slug), slug).to.equal(true);
  });

  it('do not include products', () => {
    for (const slug of ['shop', 'shop.web', 'my-app', 'crm', 'aos', 'initech', 'cronus', 'd', 'cron-jobs', 'updater'])
      expect(isSystemDirectoryName(slug), slug).to.equal(false);
  });

  it('include all drop-in directories of this machine', async function () {
    const names = await readdir('/etc').catch(() => null);
    if (names === null) this.skip();
    for (const name of names.filter((one) => /\.d$|^cron\.|^systemd$|^ssh$|^apt$|^dpkg$|^security$|^skel$/.test(one)))
      expect(isSystemDirectoryName(name), name).to.equal(true);
  });
});
