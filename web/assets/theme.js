// Runs before the styles: says that scripts run, and gives the kit's dark rules the system's choice where none was
// made. The page is right without it: the styles follow the system by themselves (aos.css, data-svc-theme="auto").
(function () {
  const root = document.documentElement;
  root.classList.add('js');
  if (root.dataset.svcTheme !== 'auto') return;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = () => root.setAttribute('data-bs-theme', dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', apply);
  apply();
})();
