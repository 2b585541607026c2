//! A program that reports with Sentry's SDK for Rust: `shop report <dsn>` once of everything, `shop limited <dsn>` ten errors,
//! `shop panics <dsn>` four panics at three places, `shop cases <dsn>` errors of `anyhow`.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use std::{env, fmt, panic};

use sentry::protocol::{Context, User, Value};

#[derive(Debug)]
struct NoPrice;

impl fmt::Display for NoPrice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "there is no price")
    }
}

impl Error for NoPrice {}

/// Tells which cart failed.
#[derive(Debug)]
struct CartError {
    cart: &'static str,
    cause: NoPrice,
}

impl fmt::Display for CartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the cart '{}' has no price", self.cart)
    }
}

impl Error for CartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

#[inline(never)]
fn total(cart: &'static str) {
    sentry::capture_error(&CartError { cart, cause: NoPrice });
}

fn report() {
    sentry::configure_scope(|scope| {
        scope.set_tag("shop", "eu");
        scope.set_user(Some(User {
            id: Some("4711".into()),
            username: Some("jane".into()),
            ..User::default()
        }));
        let cart: BTreeMap<String, Value> = BTreeMap::from([("id".into(), "A-1001".into()), ("items".into(), 3.into())]);
        scope.set_context("cart", Context::Other(cart));
    });
    sentry::start_transaction(sentry::TransactionContext::new("checkout", "task")).finish();
    sentry::add_breadcrumb(sentry::Breadcrumb {
        category: Some("cart".into()),
        message: Some("opened".into()),
        ..sentry::Breadcrumb::default()
    });
    for _ in 0..2 {
        total("A-1001");
        sentry::capture_message("stock is low", sentry::Level::Info);
    }
    flush();
}

fn limited() {
    for _ in 0..10 {
        total("A-1001");
        flush();
    }
}

#[inline(never)]
fn price(prices: &[u32]) -> u32 {
    prices[7]
}

#[inline(never)]
fn stock(counts: &BTreeMap<&str, u32>) -> u32 {
    *counts.get("apples").unwrap()
}

#[inline(never)]
fn discount(text: &str) -> u32 {
    text.parse().expect("a discount is a number")
}

/// The same place twice, then two others: three groups.
fn panics() {
    let _ = panic::catch_unwind(|| price(&[1]));
    let _ = panic::catch_unwind(|| price(&[1]));
    let _ = panic::catch_unwind(|| stock(&BTreeMap::new()));
    let _ = panic::catch_unwind(|| discount("much"));
    flush();
}

#[inline(never)]
fn load() -> anyhow::Error {
    anyhow::anyhow!("there is no price")
}

#[inline(never)]
fn save() -> anyhow::Error {
    anyhow::Error::from(NoPrice)
}

#[inline(never)]
fn discounts() -> anyhow::Result<u32> {
    let parsed: u32 = "much".parse()?;
    Ok(parsed)
}

fn cases() {
    sentry::integrations::anyhow::capture_anyhow(&load());
    sentry::integrations::anyhow::capture_anyhow(&save());
    if let Err(error) = discounts() {
        sentry::integrations::anyhow::capture_anyhow(&error);
    }
    flush();
}

fn flush() {
    if let Some(client) = sentry::Hub::current().client() {
        client.flush(Some(Duration::from_secs(10)));
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, mode, dsn] = arguments.as_slice() else {
        panic!("shop <report|limited|panics|cases> <dsn>");
    };
    let options = sentry::ClientOptions::new()
        .release("shop@1.4.2+7")
        .environment("production")
        .server_name("web-1")
        .attach_stacktrace(true)
        .traces_sample_rate(if mode == "report" { 1.0 } else { 0.0 });
    let _guard = sentry::init((dsn.as_str(), options));
    match mode.as_str() {
        "report" => report(),
        "limited" => limited(),
        "cases" => cases(),
        _ => panics(),
    }
    println!("done");
}
