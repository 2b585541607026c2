/** Text in right-to-left scripts is isolated on every page (contract 80, look). */
import { expect } from 'chai';
import { isolateRtlText } from '../../../../adapters/hapi/pages/rtl-isolation.js';
import { expectLinear } from '../../../support/cpu-time.js';

const HEBREW = 'שלום עולם';
const ARABIC = 'فشل الدفع';

describe('hapi: right-to-left text in a page', () => {
  it('leaves a page without right-to-left text unchanged', () => {
    const page = '<p class="x">Total: 5 €</p><input value="a">';
    expect(isolateRtlText(page)).to.equal(page);
  });

  it('sets the direction of an element that contains only right-to-left text', () => {
    expect(isolateRtlText(`<a href="/bugs/shop-1">${HEBREW}</a>`)).to.equal(
      `<a href="/bugs/shop-1" dir="auto">${HEBREW}</a>`,
    );
    expect(isolateRtlText(`<option value="1">${ARABIC}</option>`)).to.equal(
      `<option value="1" dir="auto">${ARABIC}</option>`,
    );
    expect(isolateRtlText(`<textarea name="t">${ARABIC}</textarea>`)).to.include('<textarea name="t" dir="auto">');
  });

  it('isolates right-to-left words in other text, and keeps the alignment of cells and lists', () => {
    expect(isolateRtlText(`<td>${HEBREW}<span>7</span> ${ARABIC} \n</td>`)).to.equal(
      `<td><bdi dir="auto">${HEBREW}</bdi><span>7</span> <bdi dir="auto">${ARABIC}</bdi> \n</td>`,
    );
    expect(isolateRtlText(`<button><svg><use href="#i"/></svg> ${HEBREW}</button>`)).to.equal(
      `<button><svg><use href="#i"/></svg> <bdi dir="auto">${HEBREW}</bdi></button>`,
    );
    expect(isolateRtlText(`<label><input type="checkbox">${HEBREW}</label>`)).to.include(
      `<input type="checkbox"><bdi dir="auto">${HEBREW}</bdi>`,
    );
  });

  it('leaves code, titles, values and elements with an explicit direction unchanged', () => {
    for (const page of [
      `<title>${HEBREW}</title>`,
      `<pre>${HEBREW}</pre>`,
      `<code>${HEBREW}</code>`,
      `<p dir="ltr">${HEBREW}</p>`,
      `<input value="${HEBREW}">`,
      `<rect><title>${ARABIC}</title></rect>`,
    ])
      expect(isolateRtlText(page), page).to.equal(page);
  });

  it('runs in linear time', () => {
    for (const part of ['<a', `<td>${HEBREW}`, '< ', `${HEBREW}   `, '>'])
      expectLinear(() => isolateRtlText(`<p>${HEBREW}</p><td>${part.repeat(100_000)}`));
  });

  it('is idempotent, because cards are rendered before their page', () => {
    const once = isolateRtlText(`<td>${HEBREW}</td><p>${ARABIC}</p>`);
    expect(isolateRtlText(once)).to.equal(once);
  });
});
