pub fn tidy() {}
pub mod inner {
    pub fn deep() { super::tidy(); }
}
