// Shows the slug that a new project gets from its name (plugins/projects/slug.ts), until one is typed.
(() => {
  const [name, slug] = ['name', 'slug'].map((field) => document.querySelector(`form input[name="${field}"]`));
  const line = document.querySelector('[data-slug-line]');
  if (!name || !slug || !line) return;
  const shown = line.querySelector('[data-slug-shown]');
  const toSlug = (text) =>
    text
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll('ß', 'ss')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 64)
      .replaceAll(/^-+|-+$/g, '') || 'project';
  const show = () => {
    const text = slug.value.trim() || (name.value.trim() && toSlug(name.value));
    shown.textContent = text;
    slug.placeholder = name.value.trim() && toSlug(name.value);
    line.hidden = text === '';
  };
  name.addEventListener('input', show);
  slug.addEventListener('input', show);
  show();
})();
