pub struct Store { items: Vec<Item>, limit: i32 }

pub struct Item { pub name: i32 }

pub trait Sink { fn write(&self, text: &str); }

pub const LIMIT: i32 = 3;

impl Store {
    pub fn open(limit: i32) -> Self { Store { items: Vec::new(), limit: LIMIT } }
    pub fn save(&self, item: &Item) -> Option<Item> {
        self.check();
        item.show();
        for one in &self.items { one.show(); }
        crate::util::tidy();
        super::helper(1);
        None
    }
    fn check(&self) {}
}

impl Item {
    fn show(&self) {}
}
