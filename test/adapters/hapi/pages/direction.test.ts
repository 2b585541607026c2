/** Text in right-to-left scripts is isolated on every page (contract 80, look). */
import { expect } from 'chai';
import { isolated } from '../../../../adapters/hapi/pages/direction.js';
import { staysLinear } from '../../../support/work.js';

const HEBREW = 'שלום עולם';
const ARABIC = 'فشل الدفع';

describe('right-to-left text of a page', () => {
  it('leaves a page without it unchanged', () => {
    const page = '<p class="x">Total: 5 €</p><input value="a">';
    expect(isolated(page)).to.equal(page);
  });

  it('sets the direction of an element with nothing else', () => {
    expect(isolated(`<a href="/bugs/shop-1">${HEBREW}</a>`)).to.equal(
      `<a href="/bugs/shop-1" dir="auto">${HEBREW}</a>`,
    );
    expect(isolated(`<option value="1">${ARABIC}</option>`)).to.equal(
      `<option value="1" dir="auto">${ARABIC}</option>`,
    );
    expect(isolated(`<textarea name="t">${ARABIC}</textarea>`)).to.include('<textarea name="t" dir="auto">');
  });

  it('isolates it among other words, and keeps the side of cells and lists', () => {
    expect(isolated(`<td>${HEBREW}<span>7</span> ${ARABIC} \n</td>`)).to.equal(
      `<td><bdi dir="auto">${HEBREW}</bdi><span>7</span> <bdi dir="auto">${ARABIC}</bdi> \n</td>`,
    );
    expect(isolated(`<button><svg><use href="#i"/></svg> ${HEBREW}</button>`)).to.equal(
      `<button><svg><use href="#i"/></svg> <bdi dir="auto">${HEBREW}</bdi></button>`,
    );
    expect(isolated(`<label><input type="checkbox">${HEBREW}</label>`)).to.include(
      `<input type="checkbox"><bdi dir="auto">${HEBREW}</bdi>`,
    );
  });

  it('leaves code, titles, values and elements with a direction unchanged', () => {
    for (const page of [
      `<title>${HEBREW}</title>`,
      `<pre>${HEBREW}</pre>`,
      `<code>${HEBREW}</code>`,
      `<p dir="ltr">${HEBREW}</p>`,
      `<input value="${HEBREW}">`,
      `<rect><title>${ARABIC}</title></rect>`,
    ])
      expect(isolated(page), page).to.equal(page);
  });

  it('runs in linear time', () => {
    for (const part of ['<a', `<td>${HEBREW}`, '< ', `${HEBREW}   `, '>'])
      staysLinear(() => isolated(`<p>${HEBREW}</p><td>${part.repeat(100_000)}`));
  });

  it('changes nothing the second time: cards are rendered before their page', () => {
    const once = isolated(`<td>${HEBREW}</td><p>${ARABIC}</p>`);
    expect(isolated(once)).to.equal(once);
  });
});
