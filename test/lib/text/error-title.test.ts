/** Title of an error group (contract 21, intake). */
import { expect } from 'chai';
import fc from 'fast-check';
import { getShortClassName, toErrorTitle } from '../../../lib/text/error-title.js';

describe('lib: error titles', () => {
  const classes: [string, string][] = [
    ['TypeError', 'TypeError'],
    ['System.InvalidOperationException', 'InvalidOperationException'],
    ['requests.exceptions.ConnectionError', 'ConnectionError'],
    ['App\\Db\\QueryException', 'QueryException'],
    ['\\PDOException', 'PDOException'],
    ['ActiveRecord::RecordNotFound', 'RecordNotFound'],
    ['errors/NotFound', 'NotFound'],
    ['com.acme.Net$Timeout', 'Timeout'],
    ['com.acme.Cart$1', 'Cart$1'],
    ['Acme.Net+Timeout', 'Timeout'],
    ['*errors.errorString', 'errorString'],
    ['*PathError', 'PathError'],
    ['Acme.Result`1[[System.String, mscorlib, Version=4.0.0.0]]', 'Result'],
    ['std::bad_cast<foo::bar>', 'bad_cast'],
    ['class@anonymous\u0000/var/www/a.php:12', 'class'],
    ['Foo.', 'Foo'],
    ['Ошибка.Ввод', 'Ввод'],
    ['12.5', '12.5'],
    ['::', '::'],
    ['<lambda>', '<lambda>'],
    ['Foo.12', 'Foo'],
    ['shop.Cart\nsecond line', 'Cart'],
    ['password: hunter2', 'password: hunter2'],
    ['{"password":"hunter2"}', '{"password":"hunter2"}'],
  ];
  for (const [name, short] of classes) {
    it(`shortens ${JSON.stringify(name)} to ${short}`, () => expect(getShortClassName(name)).to.equal(short));
  }

  it('consist of class and first line', () => {
    expect(toErrorTitle('a.b.C', 'it breaks\nsecond')).to.equal('C: it breaks');
    expect(toErrorTitle('a.b.C', '\r\n  it breaks \r\nsecond')).to.equal('C: it breaks');
    expect(toErrorTitle(null, 'it breaks')).to.equal('it breaks');
    expect(toErrorTitle('a.b.C', '')).to.equal('C');
    expect(toErrorTitle('C', 'x'.repeat(200))).to.equal(`C: ${'x'.repeat(160)}`);
    expect(toErrorTitle('C', '😀'.repeat(161))).to.equal(`C: ${'😀'.repeat(160)}`);
  });

  it('are a single line of limited length, never empty', () => {
    const unit = fc.constantFrom(
      'a',
      'É',
      '.',
      '\\',
      '::',
      '$',
      '<',
      '@anonymous',
      '\0',
      '\r',
      '\n',
      '\u2028',
      '😀',
      ' ',
    );
    const text = fc.string({ unit, maxLength: 250 });
    fc.assert(
      fc.property(text, text, (name, message) => {
        fc.pre(name.trim() !== '' || message.trim() !== '');
        const title = toErrorTitle(name.trim() === '' ? null : name, message);
        expect(title).to.match(/^[^\r\n\u2028]+$/u);
        expect(Array.from(title).length).to.be.at.most(200);
      }),
      { numRuns: 1000 },
    );
  });
});
