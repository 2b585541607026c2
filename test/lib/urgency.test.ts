/** Contract 21, intake: urgency. */
import { expect } from 'chai';
import { getUrgency } from '../../lib/urgency.js';

describe('lib: urgency', () => {
  for (const environment of [null, undefined, '', 'production', 'prod', 'live'])
    it(`is not lowered in ${String(environment) || 'no environment'}`, () => {
      expect(getUrgency('fatal', environment)).to.equal('critical');
      expect(getUrgency('error', environment)).to.equal('high');
      expect(getUrgency('warning', environment)).to.equal('medium');
    });

  for (const environment of ['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging', ' Staging '])
    it(`is lowered by one level in ${environment}`, () => {
      expect(getUrgency('fatal', environment)).to.equal('high');
      expect(getUrgency('error', environment)).to.equal('medium');
      expect(getUrgency('warning', environment)).to.equal('low');
    });
});
