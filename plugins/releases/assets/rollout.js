// Optional: shows the value of the rollout slider while it moves.
const slider = document.getElementById('rollout-percent');
const value = document.getElementById('rollout-value');
slider?.addEventListener('input', () => {
  value.textContent = `${slider.value} %`;
});
